// Package decisions holds the specs of PlacementDecisions: groups, pages, owners, order, status, events and the guard against mass removal.
package decisions
