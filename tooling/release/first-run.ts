import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { guideBlocks } from '../../e2e/guide-blocks.ts'
import { type StartedProcess, startProcess } from '../../e2e/started-process.ts'
import { root } from '../consumer/packages.ts'
import type { RehearsalFolder } from './rehearsal-folder.ts'

const LISTENS = /\{"event":"listening".*\}\n/

type CommandLine = readonly [file: string, args: readonly string[]]

function start({ env }: RehearsalFolder, dir: string, [command, args]: CommandLine): Promise<StartedProcess> {
  const own = { ...env, PERDURE_SERVER_PORT: '0' }
  return startProcess({ command, args: [...args, 'dev', '--no-watch', '--json'], cwd: dir, env: own }, LISTENS)
}

/** Starts `npx perdure dev` in an empty folder and runs its agent. Returns the milliseconds until the result. */
export async function timeFirstRun(folder: RehearsalFolder, dir: string): Promise<number> {
  const begun = performance.now()
  const server = await start(folder, dir, ['npx', ['--yes', 'perdure']])
  try {
    const { host, port, basePath, tokenFile } = JSON.parse(server.match[0])
    const { token } = JSON.parse(readFileSync(tokenFile, 'utf8'))
    const response = await fetch(`http://${host}:${port}${basePath}/agents/echo/run`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"input":"first"}',
    })
    const { status, result } = (await response.json()) as { readonly status?: string; readonly result?: unknown }
    if (status !== 'completed' || result !== 'first') throw new Error(`the first run ended as ${status}: ${result}`)
    return performance.now() - begun
  } finally {
    await server.stop()
  }
}

/** The program of the README. */
export const programOfReadme = (): string =>
  guideBlocks(readFileSync(join(root, 'README.md'), 'utf8')).find(({ file }) => file === 'perdure.config.ts')?.text ??
  ''

interface Upgrade {
  /** A project with the earlier version. */
  readonly dir: string
  readonly earlier: string
  readonly next: string
  /** Installs the next version. */
  install(): Promise<unknown>
}

/** Starts the program of the README, upgrades while its run waits for an approval, and checks that it pays once. */
export async function rehearseUpgrade(folder: RehearsalFolder, upgrade: Upgrade): Promise<void> {
  const { dir, earlier, next, install } = upgrade
  writeFileSync(join(dir, 'perdure.config.ts'), programOfReadme())
  const bin = join(dir, 'node_modules/.bin/perdure')
  const perdure = async (...args: readonly string[]) => JSON.parse(await folder.exec(bin, [...args, '--json'], dir))
  const serving = async (use: () => Promise<void>) => {
    const server = await start(folder, dir, [bin, []])
    await use().finally(() => server.stop())
  }
  const expectVersion = async (version: string) => {
    const { version: found } = await perdure('health')
    if (found !== version) throw new Error(`the server reports version ${found}, not ${version}`)
  }

  await serving(async () => {
    await expectVersion(earlier)
    const run = `'${bin}' agents run refund --input '{"orderId":"A-17","amount":40}'`
    await folder.exec('sh', ['-c', `${run} || test $? = 3`], dir) // the code of a run that waits
  })
  await install()
  await serving(async () => {
    await expectVersion(next)
    await perdure('approvals', 'approve', 'last')
    while ((await perdure('runs', 'show', 'last')).status !== 'completed') await sleep(250)
  })
  const file = join(dir, 'payments.txt')
  const payments = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  if (payments.length !== 1) throw new Error(`the upgraded run paid ${payments.length} times`)
}
