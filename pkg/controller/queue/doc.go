// Package queue says how every controller of the hub works its queue: how many at a time, how long one piece may take, when what failed is
// tried again, what is retried quietly because it was done on an old view of the world, and which key goes before another one.
//
// Promises: only the leader works, while a standby keeps its queue and caches warm; what fails is tried again within a minute; what was
// merely outdated is neither logged nor counted as an error.
package queue
