import { createRequire } from 'node:module'
import { codes, table } from './markdown.ts'

const START = '<!-- layers:start -->'
const END = '<!-- layers:end -->'

interface Layers {
  readonly packages: Readonly<Record<string, readonly string[]>>
}

/** The imports allowed between packages, from `tooling/layers.cjs`. */
export const { packages: layers } = createRequire(import.meta.url)('../layers.cjs') as Layers

/** One row for all packages with the same allowed imports. */
function layerRows(): string[][] {
  const namesByImports = Map.groupBy(Object.keys(layers), (name) => codes(layers[name] ?? []) || 'nothing')
  return [...namesByImports].map(([allowed, names]) => [codes(names), allowed])
}

/**
 * Replaces the layer table between the markers; `undefined` when the document lacks a marker or has the markers in
 * the wrong order.
 */
export function withLayerTable(document: string): string | undefined {
  const start = document.indexOf(START)
  const end = document.indexOf(END)
  if (start === -1 || end < start) return undefined
  const text = table(['Packages', 'May import'], layerRows())
  return `${document.slice(0, start + START.length)}\n${text}\n${document.slice(end)}`
}
