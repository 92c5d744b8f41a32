// SPDX-License-Identifier: Apache-2.0

// Package picture draws a fleet: a cell for each cluster, in groups, coloured by a class. Cells of a class that stand beside each other in a row are
// one dashed line, so that a picture of 10,000 clusters is some kilobytes. What a picture shows is also in numbers, for the table that says the same.
package picture
