// `pnpm build` runs this in the folder of the console, after its module has been built.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'rolldown'
import { noticesOf } from './notices.ts'

const source = join(process.cwd(), 'src/page')
const to = join(process.cwd(), 'dist/page')

/** Writes a file and its compressed forms, so that the server compresses nothing. */
function write(name: string, content: string): void {
  writeFileSync(join(to, name), content)
  writeFileSync(join(to, `${name}.br`), brotliCompressSync(content))
  writeFileSync(join(to, `${name}.gz`), gzipSync(content, { level: 9 }))
}

/** A name that changes with the content, so that browsers may keep the file forever. */
function writeHashed(name: string, content: string): string {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 10)
  const hashed = name.replace('.', `-${hash}.`)
  write(hashed, content)
  return hashed
}

rmSync(to, { recursive: true, force: true })
mkdirSync(to, { recursive: true })
const { output } = await build({
  input: { console: join(source, 'main.tsx') },
  platform: 'browser',
  resolve: { conditionNames: ['perdure-source', 'import', 'module', 'browser', 'default'] },
  transform: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  write: false,
  logLevel: 'warn',
  output: {
    ...{ format: 'esm', minify: true, entryFileNames: '[name]-[hash].js', chunkFileNames: '[name]-[hash].js' },
    // What most pages use is one file, because each file is a request.
    codeSplitting: { groups: [{ name: 'parts', test: /page\/(parts|api)\/|page\/(route|app-context)\./ }] },
  },
})
const chunks = output.filter((file) => file.type === 'chunk')
for (const { fileName, code } of chunks) write(fileName, code)
const files = {
  SCRIPT: chunks.find(({ isEntry }) => isEntry)?.fileName ?? '',
  STYLE: writeHashed('console.css', readFileSync(join(source, 'console.css'), 'utf8')),
  // Inside the page, because it would be one more request.
  ICON: encodeURIComponent(readFileSync(join(source, 'icon.svg'), 'utf8').trim()),
}
const html = readFileSync(join(source, 'index.html'), 'utf8')
write(
  'index.html',
  html.replace(/%(SCRIPT|STYLE|ICON)%/g, (_, name: keyof typeof files) => files[name]),
)
writeFileSync(join(to, '../THIRD-PARTY-LICENSES'), noticesOf(chunks.flatMap(({ moduleIds }) => moduleIds)))
