import type { GuideBlock } from '../e2e/guide-blocks.ts'

/**
 * Returns the files that a reader of a document writes, by path. Each time a block replaces a file, the files until then stay as they
 * are, and a copy of all of them with the replaced one begins a new folder.
 *
 * @param blocks the blocks of the document
 * @param folder where the files are
 */
export function guideFiles(blocks: readonly GuideBlock[], folder: string): ReadonlyMap<string, string> {
  const written = new Map<string, string>()
  let version = 1
  const current = new Map<string, string>()
  const write = (name: string, text: string) => {
    current.set(name, text)
    written.set(`${folder}/${version}/${name}`, text)
  }
  for (const { file, more, text } of blocks) {
    if (file !== undefined && current.has(file)) {
      version += 1
      for (const [name, earlier] of current) write(name, earlier)
    }
    if (file !== undefined) write(file, text)
    if (more !== undefined) write(more, `${current.get(more) ?? ''}${text}`)
  }
  return written
}
