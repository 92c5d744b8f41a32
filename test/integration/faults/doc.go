// Package faults holds the specs of requests and watches that fail, and of objects that cannot be decoded, one fault at a time.
package faults
