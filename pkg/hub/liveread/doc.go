// Package liveread reads single objects of the hub from the API server instead of the informer cache.
//
// Each read is a list with the name as its field selector: it is as consistent as a get, and needs no permission beyond those of the cache.
package liveread
