import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { runGuide } from '../../e2e/guide-runner.ts'
import { packages, packPackages, root } from '../consumer/packages.ts'
import { EARLIER, packAsEarlier } from './earlier-version.ts'
import { rehearseUpgrade, timeFirstRun } from './first-run.ts'
import { missingForImage, rehearseImage } from './image.ts'
import { rehearseVersion } from './next-version.ts'
import { PACKAGE_MANAGERS } from './package-managers.ts'
import { type LoopbackRegistry, startRegistry } from './registry.ts'
import { createRehearsalFolder, type RehearsalFolder } from './rehearsal-folder.ts'

/** The most that `npx perdure dev` may take in an empty folder, until its first run has a result. */
const FIRST_RUN_MS = 15_000

const [{ manifest: { version } = { version: '' } } = {}] = packages
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

/** Runs a step, and prints its name and time. */
async function timed<Value>(name: string, step: () => Promise<Value> | Value): Promise<Value> {
  const begun = performance.now()
  const value = await step()
  console.log(`${name}: ${seconds(performance.now() - begun)}`)
  return value
}

/** Packs the build, and prints the size of each tarball and of everything together. */
function pack(to: string): void {
  const sizes = packPackages(to).map(({ manifest, tarball }) => [manifest.name, statSync(tarball).size] as const)
  for (const [name, bytes] of sizes) console.log(`  ${name}: ${Math.ceil(bytes / 1_000)} kB`)
  console.log(`  ${sizes.length} tarballs: ${Math.ceil(sizes.reduce((sum, [, bytes]) => sum + bytes, 0) / 1_000)} kB`)
}

/** Publishes with the command of the workflow, without the statement of provenance that only a hosted runner can sign. */
async function publish({ exec }: RehearsalFolder, from: string): Promise<void> {
  const { scripts = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const command: string = scripts['release:publish'].replace(' --provenance', '').replace(' dist', ` ${from}`)
  await exec('sh', ['-c', command], root)
}

async function measureFirstRun(folder: RehearsalFolder): Promise<void> {
  await timed('npx perdure dev, cold', () => timeFirstRun(folder, folder.project('npx-cold')))
  const ms = await timeFirstRun(folder, folder.project('npx'))
  console.log(`npx perdure dev in an empty folder, first result with a warm cache: ${seconds(ms)}`)
  if (ms > FIRST_RUN_MS) throw new Error(`the first run took ${seconds(ms)}, more than ${seconds(FIRST_RUN_MS)}`)
}

/**
 * Installs with each package manager, and follows the README as a reader would, with its kill. These programs mostly wait,
 * so they are executed side by side.
 */
async function tryManagers(folder: RehearsalFolder): Promise<void> {
  const others: Promise<unknown>[] = []
  for (const [name, add] of Object.entries(PACKAGE_MANAGERS)) {
    const dir = folder.project(name)
    const [file, args] = add('perdure', 'zod')
    await timed(`${name}: install`, () => folder.exec(file, args, dir))
    others.push(timed(`${name}: README`, () => runGuide('README.md', join(dir, 'node_modules'))))
    if (name === 'npm') others.push(tryImage(folder, dir))
  }
  await Promise.all(others)
}

/** Where a tool is missing, the output names it; in CI, that is a failure. */
async function tryImage(folder: RehearsalFolder, project: string): Promise<void> {
  const missing = missingForImage()
  if (missing.length > 0 && process.env.CI) throw new Error(missing.join('\n'))
  if (missing.length > 0) console.log(`container image: NOT BUILT, ${missing.join('; ')}`)
  else await timed('container image: build, run, stop, run again', () => rehearseImage(folder, project))
}

async function upgrade(folder: RehearsalFolder): Promise<void> {
  const dir = folder.project('upgrade')
  const install = (...names: readonly string[]) => folder.exec(...PACKAGE_MANAGERS.npm(...names), dir)
  await install(`perdure@${EARLIER}`, 'zod')
  await rehearseUpgrade(folder, { dir, earlier: EARLIER, next: version, install: () => install(`perdure@${version}`) })
}

/** Rehearses a release of the build with a registry on loopback. Publishes nothing, and changes nothing in this folder. */
async function rehearse(registry: LoopbackRegistry): Promise<void> {
  const folder = createRehearsalFolder(registry.npmrc)
  const at = (name: string) => join(folder.path, name)
  try {
    await timed('version: every package has the next version and a change log', () =>
      console.log(`  ${version} -> ${rehearseVersion(at('versions'))}`),
    )
    await timed('pack', () => pack(at('tarballs')))
    await timed('publish an earlier version', async () => {
      packAsEarlier(at('tarballs'), at('earlier'))
      await publish(folder, at('earlier'))
    })
    await timed('publish', () => publish(folder, at('tarballs')))
    await measureFirstRun(folder)
    await Promise.all([
      tryManagers(folder),
      timed(`upgrade from ${EARLIER} to ${version} while a run waits`, () => upgrade(folder)),
    ])
  } finally {
    folder.remove()
  }
}

/** The template that needs Next.js is installed only here: that takes longer than all others together. */
function tryEveryTemplate(): void {
  const env = { ...process.env, INSTALL_EVERY_TEMPLATE: '1' }
  const args = ['vitest', 'run', '--project', 'e2e', 'e2e/create-perdure.test.ts']
  execFileSync('npx', args, { cwd: root, env, stdio: 'inherit' })
}

const registry = await startRegistry()
try {
  await timed('rehearsal', () => rehearse(registry))
} finally {
  await registry.close()
}
if (process.argv.includes('--every-template')) tryEveryTemplate()
