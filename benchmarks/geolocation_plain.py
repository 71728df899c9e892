"""Gunrock's geolocation as a plain compiled loop with the sines of the mathematical library: what one would write."""

from __future__ import annotations

import math

import numpy as np

from gpuasm.parallel import compiled


@compiled()
def plain_round(first, last, row_offsets, columns, places, spatial_iterations, longest, after):
    """Infer the places of vertices without one, in degrees, from their neighbours'."""
    lat, lon, weight = np.empty(longest), np.empty(longest), np.empty(longest)
    for v in range(first, last):
        if not (math.isnan(places[v, 0]) and math.isnan(places[v, 1])):
            continue
        n = 0
        for slot in range(row_offsets[v], row_offsets[v + 1]):
            u = columns[slot]
            if not math.isnan(places[u, 0]):
                lat[n], lon[n] = places[u, 0], places[u, 1]
                n += 1
        if n == 1:
            after[v, 0], after[v, 1] = lat[0], lon[0]
        elif n == 2:
            after[v, 0], after[v, 1] = _midpoint(lat, lon)
        elif n > 2:
            after[v, 0], after[v, 1] = _median(lat, lon, weight, n, spatial_iterations)


@compiled()
def _midpoint(lat, lon):
    f1, f2, d = math.radians(lat[0]), math.radians(lat[1]), math.radians(lon[1] - lon[0])
    x, y = math.cos(f2) * math.cos(d), math.cos(f2) * math.sin(d)
    middle = math.atan2(math.sin(f1) + math.sin(f2), math.sqrt((math.cos(f1) + x) ** 2 + y * y))
    return math.degrees(middle), lon[0] + math.degrees(math.atan2(y, math.cos(f1) + x))


@compiled()
def _median(lat, lon, weight, n, spatial_iterations):
    y_lat, y_lon = lat[:n].mean(), lon[:n].mean()
    for _ in range(spatial_iterations + 1):
        total, zeros, t_lat, t_lon = 0.0, 0, 0.0, 0.0
        for k in range(n):
            a = math.sin(math.radians(y_lat - lat[k]) / 2) ** 2
            b = math.sin(math.radians(y_lon - lon[k]) / 2) ** 2
            h = a + math.cos(math.radians(lat[k])) * math.cos(math.radians(y_lat)) * b
            d = 2 * 6371.0 * math.asin(math.sqrt(min(1.0, h)))
            weight[k] = 0.0 if d == 0.0 else 1.0 / d
            zeros += d == 0.0
            total += weight[k]
            t_lat += weight[k] * lat[k]
            t_lon += weight[k] * lon[k]
        if zeros == n:
            return y_lat, y_lon
        t_lat, t_lon = t_lat / total, t_lon / total
        if zeros:
            r = math.hypot((t_lat - y_lat) * total, (t_lon - y_lon) * total)
            share = 0.0 if r == 0.0 else zeros / r
            t_lat = max(0.0, 1 - share) * t_lat + min(1.0, share) * y_lat
            t_lon = max(0.0, 1 - share) * t_lon + min(1.0, share) * y_lon
        step = math.hypot(t_lat - y_lat, t_lon - y_lon)
        y_lat, y_lon = t_lat, t_lon
        if step < 1e-3:
            break
    return y_lat, y_lon
