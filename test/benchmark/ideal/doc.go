// Command ideal is a controller that need not think: it watches what the hub watches, with the same caches, and is told every answer. What
// it takes is what the hub would take if evaluating placements cost nothing.
package main
