// Package controller connects the hub to an API server: Setup adds the enabled controllers to a manager, Observe keeps a View up to date without
// a controller. There is no scheduling logic here.
//
// Package placement writes PlacementDecisions and the status of Placements of the two APIs. Package clusterset has the controllers that say who may
// place where, package managedcluster those that follow the clusters as a whole, and package webhookconfig the one that serves a webhook. All of them
// process their queues as package queue says. Package systems runs the opt-in systems while what they need is served. Package sharedinventory
// has the inventory that they share, and package liveread reads single objects from the API server. Package comparer checks the results while
// the hub runs, package eventwriter sends events while the hub has nothing better to do, package freshness proves that the informer caches are
// not behind, package watchhealth reports broken watches, package extracache makes caches beside that of the manager, and package assumecache
// keeps own writes until the caches show them.
package controller
