// SPDX-License-Identifier: Apache-2.0

package metrics

var argocdRefreshes = counters(hub+"argocd_refreshes_total",
	"Refreshes of ApplicationSets by `placement argocd-refresh`, by result (ok, error, or outdated: it is tried again quietly).", "result")

// The results of refreshes.
var (
	ArgoCDRefreshOK       = argocdRefreshes.WithLabelValues("ok")
	ArgoCDRefreshOutdated = argocdRefreshes.WithLabelValues("outdated")
	ArgoCDRefreshError    = argocdRefreshes.WithLabelValues("error")
)

// ArgoCDRefreshHeld is the number of ApplicationSets that Argo CD has not evaluated since their last refresh, although their clusters have
// changed again.
var ArgoCDRefreshHeld = gauge(hub+"argocd_refreshes_held",
	"ApplicationSets whose clusters have changed, and that still have the annotation of an earlier refresh: Argo CD does not evaluate them.")
