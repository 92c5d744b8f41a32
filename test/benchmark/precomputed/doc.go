// Package precomputed has decisions that are known before they are written, and a Writer that sends them as the hub does, request for
// request. The write floor and the ideal controller consist of it.
package precomputed
