// `pnpm build` runs this in the folder of each package, after `tsc -b` has written its declarations to `dist/.tsc`.
import { globSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { defineConfig } from 'rolldown'
import { planBundles } from './bundle.ts'
import { copyDeclarations } from './declarations.ts'

const { dependencies, peerDependencies, exports } = JSON.parse(readFileSync('package.json', 'utf8'))
// Third-party development dependencies are bundled.
const installed = Object.keys({ ...dependencies, ...peerDependencies })

for (const name of readdirSync('dist')) if (name !== '.tsc') rmSync(join('dist', name), { recursive: true })
const entries: readonly string[] = Object.values<Record<string, string>>(exports ?? {})
  .map((conditions) => conditions['perdure-source'] ?? '')
  .filter((source) => source.endsWith('.ts'))
for (const entry of entries) {
  copyDeclarations(basename(entry).replace(/\.ts$/, '.d.ts'), { from: 'dist/.tsc', to: 'dist' })
}

export default defineConfig(
  planBundles({
    entries: [...entries, ...globSync(['src/main.ts', 'src/compile-cache.ts', 'src/dev/dev-server.ts'])],
    threads: globSync(['src/host/storage-worker.ts', 'src/dev/parent-watch.ts', 'src/watchdog/watchdog-thread.ts']),
    external: installed,
    externalOfThreads: installed.filter((name) => !name.startsWith('@perdure/')),
    dir: 'dist',
    supply: { folder: process.cwd(), notices: 'dist/THIRD-PARTY-LICENSES', sbom: 'dist/sbom.cdx.json' },
  }),
)
