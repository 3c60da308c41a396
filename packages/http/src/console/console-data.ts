import type { ConsoleSystem, MetricHistory } from '@perdure/protocol'
import type { InferOutput } from 'valibot'

/** One file of the console. */
export interface ConsoleAsset {
  readonly type: string
  readonly body: Uint8Array
  readonly brotli: Uint8Array
  readonly gzip: Uint8Array
}

/** The files of the console by name. `index.html` refers to the others, whose names change with their content. */
export type ConsoleAssets = ReadonlyMap<string, ConsoleAsset>

/** What a server has only with the console. */
export interface ConsoleData {
  readonly assets: ConsoleAssets
  readonly readSystem: () => Promise<InferOutput<typeof ConsoleSystem>>
  readonly readMetricHistory: () => InferOutput<typeof MetricHistory>
}

/** The page that documents the API, and the sources of a Content-Security-Policy that allow its style and its script. */
export interface DocsPage {
  readonly html: string
  readonly styleSource: string
  readonly scriptSource: string
}
