import type { Agent } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import type { Call } from '../call.ts'
import { type PageFlags, pageQuery, readPage } from './read-page.ts'

export async function agentsListCommand(call: Call, flags: PageFlags): Promise<void> {
  const page = await readPage(call.client().agents.list(pageQuery(flags)), flags)
  call.out.list(page, [
    { head: 'AGENT', cell: ({ id }) => id, isId: true },
    { head: 'CONCURRENCY', cell: ({ concurrency }) => concurrencyText(concurrency) },
    { head: 'WHEN BUSY', cell: ({ onBusy }) => onBusy },
    { head: 'ON CRASH', cell: ({ onCrash }) => onCrash },
    { head: 'DESCRIPTION', cell: ({ description }) => description },
  ])
}

/** `single`, `3`, or `3 per user`. */
function concurrencyText(concurrency: InferOutput<typeof Agent>['concurrency']): string {
  if (typeof concurrency === 'string') return concurrency
  const { limit, key } = concurrency
  return key === undefined ? `${limit}` : `${limit} per ${key === 'function' ? 'key' : key}`
}
