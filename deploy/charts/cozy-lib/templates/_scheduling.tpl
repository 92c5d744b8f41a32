{{- /*
cozy-lib.scheduling.nodeSelector renders the nodeSelector of the AffinityClass of the application, or nothing if it has none. Every chart
includes it in the spec of each Pod template that it owns, indented like the other fields of that spec:

    spec:
      {{- include "cozy-lib.scheduling.nodeSelector" . | nindent 6 }}
*/ -}}
{{- define "cozy-lib.scheduling.nodeSelector" -}}
{{- with (.Values._scheduling).nodeSelector -}}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}
