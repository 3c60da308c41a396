import type { Call } from '../call.ts'
import { type PageFlags, pageQuery, readPage } from './read-page.ts'

export async function agentsListCommand(call: Call, flags: PageFlags): Promise<void> {
  const page = await readPage(call.client().agents.list(pageQuery(flags)), flags)
  call.out.list(page, [
    { head: 'AGENT', cell: ({ id }) => id, isId: true },
    { head: 'CONCURRENCY', cell: ({ concurrency }) => concurrency },
    { head: 'WHEN BUSY', cell: ({ onBusy }) => onBusy },
    { head: 'RECOVERY', cell: ({ recovery }) => recovery },
    { head: 'DESCRIPTION', cell: ({ description }) => description },
  ])
}
