// SPDX-License-Identifier: Apache-2.0

// Package dashboard serves pages that show where workloads go, and why: placements with the stages that each cluster passes, clusters with the
// placements that want them, delivered objects, cluster requests, and workloads with their policies.
//
//	GET  /                                    what there is, and what needs attention
//	GET  /placements                          the Placements
//	GET  /placements/NAMESPACE/NAME           a Placement: clusters x stages
//	GET  /placements/NAMESPACE/NAME/fleet     a picture of what it makes of each cluster, and the way from its namespace to them
//	GET  /fleet                               a picture of all clusters
//	POST /placements/NAMESPACE/NAME/preview   what an edited Placement would change
//	GET  /clusters, /clusters/NAME            clusters; one with everything that concerns it, and what-ifs
//	GET  /sets                                the sets of clusters, with the namespaces to which they are bound
//	GET  /objects, /requests, /workloads      what is delivered, requested and run, and below them the explanation of one
//	GET  /history                             what happened to decisions, the latest first
//	GET  /placements/NAMESPACE/NAME/history   the same of a Placement, with a timeline; also below other pages of one object
//	GET  /search?q=TEXT                       names that the caller may see
//	GET  /events?page=URL                     the parts of a page that change, as server-sent events
//	GET  /runbooks, /runbooks/NAME            what to do about an alert or a condition, for everybody
//	GET  /login, POST /login, POST /logout    where the caller's token is taken from a cookie
//
// Every page has a JSON twin (Accept: application/json), works without JavaScript, and has the commands that print the same. The package evaluates
// nothing by itself: a Hub answers as the commands explain, diff, simulate and history do, for the caller of a request, and reads what the caller
// may read.
//
// It promises: what a page, a count, a search result, a part of the event stream, a JSON twin or an error shows is what the caller may read; the work
// for a caller is bounded in time and size, and one piece at a time runs for each of them; nothing is written, and no token is logged or kept.
package dashboard
