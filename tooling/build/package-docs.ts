// `pnpm build` runs this in the folder of the package `perdure`, which brings the guides and the reference.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packedDocuments } from '../documents/packed-documents.ts'

const folder = join(process.cwd(), 'docs')

rmSync(folder, { recursive: true, force: true })
for (const [path, text] of packedDocuments()) {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
