// Package platform has the end-to-end tests of the providers of clusters, and of a cluster from its request to a delivered object.
package platform
