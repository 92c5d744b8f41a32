// Package controller writes the condition Greeted of Widgets.
package controller
