import type { Call } from '../call.ts'
import { pairsText } from '../output/columns.ts'
import { relativeText } from '../output/time-text.ts'

export interface MemorySearchFlags {
  readonly query: readonly string[]
  readonly namespace?: string
  readonly limit: number
}

interface FactFlags {
  readonly fact: string
}

export async function memorySearchCommand(call: Call, { query, namespace, limit }: MemorySearchFlags): Promise<void> {
  const now = Date.now()
  const body = { query: query.join(' '), limit, ...(namespace === undefined ? {} : { namespace }) }
  const { items } = await call.client().memory.search(body)
  if (call.out.isJson) {
    call.out.document({ items }, () => '')
    return
  }
  call.out.list({ items, nextCursor: null }, [
    { head: 'FACT', cell: ({ fact }) => fact.id, isId: true },
    { head: 'SCORE', cell: ({ score }) => score.toFixed(3) },
    { head: 'NAMESPACE', cell: ({ fact }) => fact.namespace },
    { head: 'TEXT', cell: ({ fact }) => fact.text },
    { head: 'UPDATED', cell: ({ fact }) => relativeText(fact.updatedAt, now) },
  ])
}

export async function memoryShowCommand(call: Call, { fact: id }: FactFlags): Promise<void> {
  const fact = await call.client().memory.getFact(id)
  call.out.document(fact, (paint) => pairsText(Object.entries(fact), paint))
}

export async function memoryForgetCommand(call: Call, { fact: id }: FactFlags): Promise<void> {
  await call.client().memory.deleteFact(id)
  call.out.document({ id, deleted: true }, () => `deleted ${id}\n`)
}
