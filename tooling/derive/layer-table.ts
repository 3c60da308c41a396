import { createRequire } from 'node:module'
import { code, codes, table } from './markdown.ts'

const START = '<!-- layers:start -->'
const END = '<!-- layers:end -->'

interface Layers {
  readonly packages: Readonly<Record<string, readonly string[]>>
}

/** The imports allowed between packages, from `tooling/layers.cjs`. */
export const { packages: layers } = createRequire(import.meta.url)('../layers.cjs') as Layers

/**
 * Replaces the layer table between the markers; `undefined` when the document lacks a marker or has them in the wrong
 * order.
 */
export function withLayerTable(document: string): string | undefined {
  const start = document.indexOf(START)
  const end = document.indexOf(END)
  if (start === -1 || end < start) return undefined
  const rows = Object.entries(layers).map(([name, allowed]) => [code(name), codes(allowed) || 'nothing'])
  const text = table(['Package', 'May import'], rows)
  return `${document.slice(0, start + START.length)}\n${text}\n${document.slice(end)}`
}
