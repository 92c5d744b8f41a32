// Package answer is what a controller writes when it need not think: answers that are known before, and a writer that sends them as the hub
// does, request for request. The write floor and the ideal are made of it.
package answer
