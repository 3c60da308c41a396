/** What a check of exported entries has found so far. */
export interface ChainCheck {
  readonly entries: number
  readonly head: { readonly seq: number; readonly hash: string } | undefined
  /** One result per block of entries: whether all of its entries are valid. */
  readonly blocks: readonly boolean[]
  /** The first invalid entry. */
  readonly broken: { readonly seq: number; readonly reason: string } | undefined
}

export interface CheckExportDeps {
  readonly sha256: (text: string) => Promise<string>
  /** Called after each block. */
  readonly onProgress?: (check: ChainCheck) => void
}

export const BLOCK = 100
const GENESIS_HASH = '0'.repeat(64)

interface ExportedEntry {
  readonly seq: number
  readonly prevHash: string
  readonly hash: string
}

/**
 * Checks the chain of exported entries, one JSON text per line and oldest first: each entry has the hash of its content
 * and of the entry before it. Stops at the end of the first block with an invalid entry.
 */
export async function checkExport(lines: AsyncIterable<string>, deps: CheckExportDeps): Promise<ChainCheck> {
  let check: ChainCheck = { entries: 0, head: undefined, blocks: [], broken: undefined }
  let block: string[] = []
  const closeBlock = async () => {
    if (block.length === 0) return
    check = await checkBlock(block, check, deps.sha256)
    block = []
    deps.onProgress?.(check)
  }
  for await (const line of lines) {
    block.push(line)
    if (block.length < BLOCK) continue
    await closeBlock()
    if (check.broken !== undefined) return check
  }
  await closeBlock()
  return check
}

async function checkBlock(
  lines: readonly string[],
  before: ChainCheck,
  sha256: CheckExportDeps['sha256'],
): Promise<ChainCheck> {
  // The hashes of a block are computed together, because each is a task of its own for the browser.
  const entries = await Promise.all(lines.map((line) => readEntry(line, sha256)))
  let { entries: count, head } = before
  const fail = (seq: number, reason: string): ChainCheck => ({
    ...{ entries: count, head },
    blocks: [...before.blocks, false],
    broken: { seq, reason },
  })
  for (const { entry, isUnaltered } of entries) {
    const expected = (head?.seq ?? (entry?.seq ?? 1) - 1) + 1
    if (entry === undefined) return fail(expected, 'entry-unreadable')
    if (entry.seq !== expected) return fail(expected, 'entry-missing')
    if (head === undefined ? entry.seq === 1 && entry.prevHash !== GENESIS_HASH : entry.prevHash !== head.hash)
      return fail(entry.seq, 'link-broken')
    if (!isUnaltered) return fail(entry.seq, 'entry-altered')
    count += 1
    head = { seq: entry.seq, hash: entry.hash }
  }
  return { entries: count, head, blocks: [...before.blocks, true], broken: undefined }
}

async function readEntry(line: string, sha256: CheckExportDeps['sha256']) {
  try {
    const { prevHash, hash, ...content } = JSON.parse(line) as ExportedEntry
    // The members of the content are in the order in which they were hashed.
    const isUnaltered = (await sha256(prevHash + JSON.stringify(content))) === hash
    return { entry: { seq: content.seq, prevHash, hash }, isUnaltered }
  } catch {
    return { entry: undefined, isUnaltered: false }
  }
}

/** The lines of a text that arrives in pieces. */
export async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) break
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield line
  }
  if (rest !== '') yield rest
}

/** SHA-256 in hex by the browser; missing on a page without HTTPS that is not on this machine. */
export const webSha256: ((text: string) => Promise<string>) | undefined =
  globalThis.crypto?.subtle === undefined
    ? undefined
    : async (text) => {
        const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
        return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
      }
