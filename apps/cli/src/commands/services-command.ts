import type { Call } from '../call.ts'
import { type PageFlags, pageQuery, readPage } from './read-page.ts'

export async function skillsListCommand(call: Call, flags: PageFlags): Promise<void> {
  const page = await readPage(call.client().skills.list(pageQuery(flags)), flags)
  call.out.list(page, [
    { head: 'SKILL', cell: ({ name }) => name },
    { head: 'STATUS', cell: ({ status }) => status, isStatus: true },
    { head: 'DESCRIPTION', cell: ({ description, reason }) => reason ?? description },
  ])
}

export async function mcpListCommand(call: Call, flags: PageFlags): Promise<void> {
  const page = await readPage(call.client().mcp.list(pageQuery(flags)), flags)
  call.out.list(page, [
    { head: 'SERVER', cell: ({ id }) => id, isId: true },
    { head: 'TRANSPORT', cell: ({ transport }) => transport },
    { head: 'STATUS', cell: ({ status }) => status, isStatus: true },
    { head: 'FROM', cell: ({ source }) => source },
    { head: 'URL', cell: ({ url }) => url },
  ])
}

/** Listing the tools makes the server connect to the MCP server. */
export async function mcpTestCommand(call: Call, { server }: { readonly server: string }): Promise<void> {
  const page = await call.client().mcp.tools(server)
  call.out.list(page, [
    { head: 'TOOL', cell: ({ name }) => name },
    { head: 'DESCRIPTION', cell: ({ description }) => description },
  ])
  if (!call.out.isJson) call.out.note(`${server} is reachable`)
}
