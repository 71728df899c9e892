"""From one k to the next: reads and pairs that go on, unitigs that are carried, gaps that reads bridge."""
