// The main entry point of prom-client loads seventy more files, for unused Node.js metrics and a push gateway.
declare module '@prometheus-io/client/lib/counter.js' {
  import { Counter } from '@prometheus-io/client'
  export = Counter
}
declare module '@prometheus-io/client/lib/gauge.js' {
  import { Gauge } from '@prometheus-io/client'
  export = Gauge
}
declare module '@prometheus-io/client/lib/histogram.js' {
  import { Histogram } from '@prometheus-io/client'
  export = Histogram
}
declare module '@prometheus-io/client/lib/registry.js' {
  import { Registry } from '@prometheus-io/client'
  export = Registry
}
