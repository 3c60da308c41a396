import type { Call } from '../call.ts'
import { relativeText } from '../output/time-text.ts'

export interface MemorySearchFlags {
  readonly query: readonly string[]
  readonly namespace?: string
  readonly limit: number
}

export async function memorySearchCommand(call: Call, { query, namespace, limit }: MemorySearchFlags): Promise<void> {
  const body = { query: query.join(' '), limit, ...(namespace === undefined ? {} : { namespace }) }
  const { items } = await call.client().memory.search(body)
  if (call.out.isJson) {
    call.out.document({ items }, () => '')
    return
  }
  call.out.list(
    { items, nextCursor: null },
    {
      FACT: { cell: ({ fact }) => fact.id, isId: true },
      SCORE: ({ score }) => score.toFixed(3),
      NAMESPACE: ({ fact }) => fact.namespace,
      TEXT: ({ fact }) => fact.text,
      UPDATED: ({ fact }) => relativeText(fact.updatedAt),
    },
  )
}
