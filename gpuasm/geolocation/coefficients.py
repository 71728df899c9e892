"""Polynomial coefficients of arcs, sines and cosines, so that every device computes them by the same operations.

With c the cosine of half the angle between two unit vectors, h its sine and a the half angle itself, the ratio a / h is
smooth over all of c = 0..1, from opposite points to the same point: its only singularity is at c = -1. The same is true
for h / a. Both are polynomials in 2 c - 1 here (Chebyshev approximations of degree 21, error below 1e-17, and of degree
11, error below 1e-10), even and odd powers separately, from the lowest on. Sine and cosine are Taylor polynomials for
up to 45 degrees.
"""

from __future__ import annotations

ARC_EVEN = (
    1.2091995761561452,
    0.06973319205204692,
    0.00586162897495759,
    0.0005447739881301811,
    5.307370323056482e-05,
    5.314287188091921e-06,
    5.418581985727714e-07,
    5.575738842888287e-08,
    6.0331600097782334e-09,
    4.681011903625551e-10,
    1.1890151456850346e-10,
)
ARC_ODD = (
    -0.26360014128128495,
    -0.019837146922478774,
    -0.0017729284611099334,
    -0.00016930994739062122,
    -1.6749143247281873e-05,
    -1.693639120851007e-06,
    -1.7388548997694832e-07,
    -1.7964789574344403e-08,
    -1.966661891855127e-09,
    -1.4602825315849918e-10,
    -3.984620360291936e-11,
)
INVERSE_ARC_EVEN = (
    0.8269933431374,
    -0.008391353372923785,
    -0.00027505253287544534,
    -1.5851632753675442e-05,
    -1.0856045792687983e-06,
    -1.138053088804251e-07,
)
INVERSE_ARC_ODD = (
    0.18028087867823075,
    0.0013411066487892809,
    6.365693743356124e-05,
    4.13818946280268e-06,
    3.0042666783932254e-07,
    3.293409160202524e-08,
)
SINE = (
    0.017453292519943295,
    -8.86096155701298e-07,
    1.349601623163255e-11,
    -9.788384861617728e-17,
    4.1412674172573206e-22,
    -1.1468201775379016e-27,
    2.2393679707751967e-33,
    -3.248335681954942e-39,
    3.637866301611077e-45,
)
COSINE = (
    1.0,
    -0.0001523087098933543,
    3.866323851562994e-09,
    -3.925831985743095e-14,
    2.135494303594986e-19,
    -7.227875163670209e-25,
    1.667982335528525e-30,
    -2.7917388752665238e-36,
    3.5433845537580686e-42,
    -3.5273747061368e-48,
)
HALF_TURN = 180.0
DEGREES = 57.29577951308232
EARTH_RADIUS_KM = 6371.0
