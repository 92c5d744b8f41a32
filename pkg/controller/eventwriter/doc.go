// Package eventwriter writes Kubernetes events (events.k8s.io/v1) behind everything else that is written.
//
// Client-go's broadcaster starts a goroutine for each event, and each of them a request at once, so that thousands of new placements
// would have their decisions compete with three events each. Here one request is under way at a time, with a long pause after it while
// there are placements to decide.
//
// Promises: an event costs its sender no waiting and no request; events are written in the order in which they were sent; what is sent
// again within six minutes, about the same objects in the same words, becomes a series, whose count is written when it begins and every
// six minutes; at most 20,000 events wait, and what comes while so many wait is not even put into words; the end is put off by half a
// second at most; a note that an API server would refuse as too long is cut. What is lost is counted in placement_hub_events_total.
package eventwriter
