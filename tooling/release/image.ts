import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DockerfileParser } from 'dockerfile-ast'
import { unusedPort } from '../../e2e/unused-port.ts'
import { findTool, missingMessage, type ToolName, toolPath } from '../machine-tools.ts'
import { programOfReadme } from './first-run.ts'
import type { RehearsalFolder } from './rehearsal-folder.ts'

const NEEDED: readonly ToolName[] = ['podman', 'runc', 'dpkg']

/** The user of the image. */
const USER = 1_000

/** Looks at the container from inside: who runs the server, and what it may write. */
const LOOK = [
  'id -u',
  'grep CapEff /proc/self/status',
  'touch /app/x 2>&1',
  'touch /tmp/x',
  'ls -d /data/perdure.db',
  'tr "\\0" " " < /proc/1/cmdline',
].join('; ')
const EXPECTED = [
  /^1000$/m,
  /CapEff:\s*0{16}$/m,
  /Read-only file system/,
  /^\/data\/perdure\.db$/m,
  /perdure server --json/,
]

/** Says which tools are missing that build and run an image. */
export const missingForImage = (): readonly string[] =>
  NEEDED.filter((name) => findTool(name) === undefined).map(missingMessage)

/**
 * Builds the image of `deploy/Dockerfile` from a project with installed packages, and runs it as `deploy/compose.yaml` does:
 * not as root, on a file system that it cannot write, without capabilities.
 */
export async function rehearseImage(folder: RehearsalFolder, project: string): Promise<void> {
  const at = (name: string) => join(folder.path, 'image', name)
  const here = (file: string, ...args: readonly string[]) => folder.exec(file, args, project)
  mkdirSync(at('secrets'), { recursive: true })
  // Its own storage, so that it meets no image of the machine. This runtime also accepts the older form of control groups.
  const own = ['--root', at('storage'), '--runroot', at('run'), '--runtime', 'runc', '--cgroup-manager', 'cgroupfs']
  const podman = (...args: readonly string[]) => here(toolPath('podman'), ...own, ...args)
  const perdure = (...args: readonly string[]) => here(join(project, 'node_modules/.bin/perdure'), ...args)

  const dockerfile = await perdure('deploy', 'print', 'dockerfile')
  writeFileSync(join(project, 'Dockerfile'), dockerfile)
  writeFileSync(join(project, '.dockerignore'), await perdure('deploy', 'print', 'dockerignore'))
  writeFileSync(join(project, 'perdure.config.ts'), programOfReadme())
  const [base = ''] = DockerfileParser.parse(dockerfile)
    .getFROMs()
    .flatMap((from) => from.getImage() ?? [])
  await here(join(import.meta.dirname, 'base-image.sh'), at('base'), process.execPath)
  await here('tar', '-C', at('base'), '-cf', at('base.tar'), '.')
  await podman('import', '--quiet', at('base.tar'), `localhost/${base}`)
  const network = ['--network', 'host']
  await podman('build', '--isolation', 'chroot', ...network, '--format', 'docker', '--pull-never', '-t', 'perdure', '.')

  const pepper = at('secrets/pepper')
  writeFileSync(pepper, 'p'.repeat(40), { mode: 0o400 })
  chownSync(pepper, USER, USER)
  const port = await unusedPort()
  const environment = {
    PERDURE_AUTH_PEPPER_REF: 'file:/run/secrets/pepper',
    PERDURE_SERVER_HOST: '127.0.0.1',
    PERDURE_SERVER_PORT: String(port),
    PERDURE_URL: `http://127.0.0.1:${port}/v1`,
  }
  const limits = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024'] // more than some machines grant
  const minimal = ['--read-only', '--read-only-tmpfs=false', '--tmpfs', '/tmp', '--cap-drop', 'ALL']
  const variables = Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`])
  const mounts = ['--volume', 'data:/data', '--volume', `${pepper}:/run/secrets/pepper:ro`]
  const rights = [...minimal, '--security-opt', 'no-new-privileges', ...limits]
  const start = () =>
    podman(
      'run',
      '--detach',
      '--name',
      'server',
      '--no-healthcheck',
      ...network,
      ...rights,
      ...mounts,
      ...variables,
      'perdure',
    )
  const inside = (script: string) => podman('exec', 'server', 'sh', '-c', script)
  const [health = ''] = JSON.parse(
    await podman('image', 'inspect', 'perdure', '--format', '[{{json .HealthCheck.Test}}]'),
  ).map(([, command]: readonly string[]) => command)
  const stop = async () => {
    await podman('stop', '--time', '40', 'server')
    const code = (await podman('inspect', 'server', '--format', '{{.State.ExitCode}}')).trim()
    if (code !== '0')
      throw new Error(`the container did not drain: exit code ${code}\n${await podman('logs', 'server')}`)
    await podman('rm', 'server')
  }
  const untilHealthy = async () => {
    while (!(await inside(`(${health}) && echo healthy || true`)).includes('healthy')) await sleep(500)
  }

  try {
    await start()
    await untilHealthy()
    const found = await inside(LOOK)
    const missing = EXPECTED.filter((one) => !one.test(found))
    if (missing.length > 0) throw new Error(`the container lacks ${missing.join(', ')}:\n${found}`)
    await inside('perdure token create --name kept --scopes runs:read --expires 1h > /tmp/token')
    await stop()
    await start()
    await untilHealthy()
    if (!(await inside('perdure token list')).includes('kept')) throw new Error('the volume lost the token')
    await stop()
  } finally {
    await podman('rm', '--force', '--all', '--volumes')
  }
}
