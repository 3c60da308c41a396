// `pnpm build` runs this in the folder of the console, after its module has been built.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build, type OutputOptions } from 'rolldown'
import { writeSupplyFiles } from './notices.ts'

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

/** An HTML file of the sources with its marks replaced. */
const filled = (name: string, marks: Readonly<Record<string, string>>): string =>
  readFileSync(join(source, name), 'utf8').replace(/%([A-Z]+)%/g, (mark, key: string) => marks[key] ?? mark)

rmSync(to, { recursive: true, force: true })
mkdirSync(to, { recursive: true })
/** Bundles a script of the page. */
const bundle = async (name: string, output: OutputOptions) => {
  const { output: files } = await build({
    input: { [name]: join(source, `${name === 'console' ? 'main' : name}.tsx`) },
    platform: 'browser',
    resolve: { conditionNames: ['perdure-source', 'import', 'module', 'browser', 'default'] },
    transform: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    write: false,
    logLevel: 'warn',
    output: { format: 'esm', minify: true, ...output },
  })
  return files.filter((file) => file.type === 'chunk')
}

const chunks = await bundle('console', {
  ...{ entryFileNames: '[name]-[hash].js', chunkFileNames: '[name]-[hash].js' },
  // What most pages use is one file, because each file is a request.
  codeSplitting: {
    groups: [{ name: 'parts', test: /page\/(parts|api)\/|page\/(route|app-context|diff\/diff-table)\./ }],
  },
})
for (const { fileName, code } of chunks) write(fileName, code)
/** The style without comments and indentation. */
const style = readFileSync(join(source, 'console.css'), 'utf8')
  .replaceAll(/\/\*[^*]*\*\//g, '')
  .replaceAll(/([{};,])\s+/g, '$1')
// Inside the page, because it would be one more request.
const icon = encodeURIComponent(readFileSync(join(source, 'icon.svg'), 'utf8').trim())
write(
  'index.html',
  filled('index.html', {
    SCRIPT: chunks.find(({ isEntry }) => isEntry)?.fileName ?? '',
    STYLE: writeHashed('console.css', style),
    ICON: icon,
  }),
)

// The documentation of the API is one file, so that a server without the console serves it too.
const docs = await bundle('docs', { codeSplitting: false })
const script = docs[0]?.code ?? ''
if (docs.length !== 1 || /<\/script|<!--/i.test(script)) throw new Error('the script of docs.html cannot be inlined')
writeFileSync(
  join(to, 'docs.html'),
  filled('docs.html', { ICON: icon })
    .replace('</head>', () => `<style>${style}</style>\n</head>`)
    .replace('</body>', () => `<script type="module">${script}</script>\n</body>`),
)
writeSupplyFiles(
  { folder: process.cwd(), notices: join(to, '../THIRD-PARTY-LICENSES'), sbom: join(to, '../sbom.cdx.json') },
  [...chunks, ...docs].flatMap(({ moduleIds }) => moduleIds),
)
