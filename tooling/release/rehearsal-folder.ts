import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { consumerEnvironment } from '../../e2e/consumer-project.ts'

const execute = promisify(execFile)

/** A place with a home of its own, where clients of the registry on loopback install packages. */
export interface RehearsalFolder {
  readonly path: string
  readonly env: NodeJS.ProcessEnv
  /** Creates an empty folder with a `package.json`. */
  project(name: string): string
  /** Rejects with its output when the command fails. */
  exec(file: string, args: readonly string[], cwd: string): Promise<string>
  remove(): void
}

export function createRehearsalFolder(npmrc: string): RehearsalFolder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-rehearsal-')))
  const home = join(path, 'home')
  const env = {
    ...consumerEnvironment(home),
    npm_config_cache: join(path, 'npm-cache'),
    npm_config_update_notifier: 'false',
    YARN_CACHE_FOLDER: join(path, 'yarn-cache'),
    BUN_INSTALL_CACHE_DIR: join(path, 'bun-cache'),
    XDG_DATA_HOME: join(path, 'data'),
    XDG_CACHE_HOME: join(path, 'cache'),
  }
  writeFileSync(join(home, '.npmrc'), npmrc)
  return {
    path,
    env,
    project(name) {
      const dir = join(path, name)
      mkdirSync(dir)
      writeFileSync(join(dir, 'package.json'), '{ "private": true, "type": "module" }\n')
      return dir
    },
    async exec(file, args, cwd) {
      try {
        return (await execute(file, args, { cwd, env, maxBuffer: 1 << 26 })).stdout
      } catch (error) {
        const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string }
        throw new Error(`${file} ${args.join(' ')} failed in ${cwd}\n${stdout}${stderr}`, { cause: error })
      }
    },
    remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }),
  }
}
