// Package precomputed has decisions and ManifestWorks that are known before they are written, and a Writer and a WorkWriter that send them
// as the hub does, request for request. The write floors and the ideal controller consist of them.
package precomputed
