import type { Call } from '../call.ts'
import { type PageFlags, pageQuery, readPage } from './read-page.ts'

export async function nodesListCommand(call: Call, flags: PageFlags): Promise<void> {
  const page = await readPage(call.client().nodes.list(pageQuery(flags)), flags)
  if (page.items.length === 0) call.out.note('this server shares its storage with no other server')
  call.out.list(page, [
    { head: 'NODE', cell: ({ id }) => id, isId: true },
    { head: 'NAME', cell: ({ name, answered }) => (answered ? `${name} (answered)` : name) },
    { head: 'STATUS', cell: ({ status }) => status, isStatus: true },
    { head: 'VERSION', cell: ({ version }) => version },
    { head: 'RUNS', cell: ({ runs }) => runs },
    { head: 'LEASE', cell: ({ leaseMs }) => `${(leaseMs / 1_000).toFixed(1)} s` },
    { head: 'DUTIES', cell: ({ duties }) => duties.join(' ') },
    { head: 'DIFFERS', cell: ({ differs }) => differs.join(' ') },
  ])
}

export async function nodesDrainCommand(call: Call, { node }: { readonly node: string }): Promise<void> {
  const { nodes } = call.client()
  const { items } = await nodes.list({ limit: 200 })
  const drained = await nodes.drain(items.find(({ name }) => name === node)?.id ?? node)
  call.out.document(drained, () => `${drained.name} hands over its work; restart it to use it again\n`)
}
