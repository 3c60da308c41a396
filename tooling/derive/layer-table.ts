import { createRequire } from 'node:module'
import { code, codes, table } from './markdown.ts'

const START = '<!-- layers:start -->'
const END = '<!-- layers:end -->'

/** Who may import whom, as `tooling/layers.cjs` says. */
export const layers = createRequire(import.meta.url)('../layers.cjs') as Readonly<Record<string, readonly string[]>>

/** The document with the layer table between its markers; `undefined` when it has not both, in their order. */
export function withLayerTable(document: string): string | undefined {
  const start = document.indexOf(START)
  const end = document.indexOf(END)
  if (start === -1 || end < start) return undefined
  const rows = Object.entries(layers).map(([name, allowed]) => [code(name), codes(allowed) || 'nothing'])
  const text = table(['Package', 'May import'], rows)
  return `${document.slice(0, start + START.length)}\n${text}\n${document.slice(end)}`
}
