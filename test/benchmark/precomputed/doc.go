// SPDX-License-Identifier: Apache-2.0

// Package precomputed has decisions, ManifestWorks and ClusterRequestGrants that are known before they are written, and a Writer, a WorkWriter
// and a GrantWriter that send them as the hub does, request for request. The write floors and the ideal controller consist of them.
package precomputed
