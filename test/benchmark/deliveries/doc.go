// SPDX-License-Identifier: Apache-2.0

// Package deliveries is what the scenario federation of the benchmark measures with: clusters, namespaces that take part, objects that all
// clusters get, and the ManifestWorks that an object must have. It sends nothing itself.
package deliveries
