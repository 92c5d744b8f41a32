// SPDX-License-Identifier: Apache-2.0

// Package picture lays out the clusters of a fleet as cells: a cell has the colour of the class of its cluster, and cells of one label value are a
// group. The cells of a small fleet have the names of the clusters. Those of a large fleet are dashed lines, one for each class of a group: a picture
// of 10,000 clusters takes some kilobytes. The counts of the groups and classes are for a table beside the picture.
package picture
