import type { Client } from '@modelcontextprotocol/client'
import type { McpTool } from '@perdure/ports'

const MAX_PAGES = 50
const MAX_TOOLS = 1_000
/** Total length of the list as JSON, in bytes. */
const MAX_BYTES = 4 * 1024 * 1024

interface ToolPage {
  readonly tools: readonly McpTool[]
  readonly nextCursor?: string | undefined
}

export interface ListToolsOptions {
  /** For each page. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/**
 * Reads the whole tool list of a server, ordered by name. A server may send its list in pages; the pages, the tools and
 * their bytes are limited.
 *
 * @throws Error that names the limit that the list exceeds
 */
export async function listTools(client: Client, options: ListToolsOptions): Promise<readonly McpTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return []
  const tools: McpTool[] = []
  let bytes = 0
  let cursor: string | undefined
  let previous: string | undefined
  for (let pages = 1; ; pages++) {
    const page = await readPage(client, cursor, options)
    const text = JSON.stringify(page.tools)
    // Some servers repeat their last page and its cursor instead of ending the list.
    const isRepeated = cursor !== undefined && page.nextCursor === cursor && text === previous
    if (isRepeated) break
    bytes += Buffer.byteLength(text, 'utf8')
    tools.push(...page.tools)
    if (tools.length > MAX_TOOLS) throw exceeds(`${MAX_TOOLS} tools`)
    if (bytes > MAX_BYTES) throw exceeds(`${MAX_BYTES} bytes`)
    if (page.nextCursor === undefined) break
    if (pages === MAX_PAGES) throw exceeds(`${MAX_PAGES} pages`)
    cursor = page.nextCursor
    previous = text
  }
  return tools.sort((one, other) => (one.name < other.name ? -1 : 1))
}

async function readPage(
  client: Client,
  cursor: string | undefined,
  { timeoutMs, signal }: ListToolsOptions,
): Promise<ToolPage> {
  const params = cursor === undefined ? {} : { cursor }
  const { tools, nextCursor } = await client.request({ method: 'tools/list', params }, { timeout: timeoutMs, signal })
  return {
    tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    nextCursor,
  }
}

const exceeds = (limit: string) => new Error(`the tool list has more than ${limit}`)
