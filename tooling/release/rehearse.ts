import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packages, pnpm, root } from '../consumer/packages.ts'

/**
 * Rehearses a release of the committed state in a copy of the repository. Publishes nothing and leaves this repository
 * unchanged.
 */
function rehearse(): void {
  const copy = join(mkdtempSync(join(tmpdir(), 'perdure-release-')), 'perdure')
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', root, copy])
  const print = (text: string) => console.log(text)

  print('install from the lockfile')
  pnpm(['install', '--frozen-lockfile', '--prefer-offline', '--loglevel=warn'], copy)

  print('apply one change set: a minor change of @perdure/client')
  const changeset = "---\n'@perdure/client': minor\n---\n\nRehearses a release.\n"
  writeFileSync(join(copy, '.changeset/rehearsal.md'), changeset)
  pnpm(['changeset', 'version'], copy)
  for (const { folder, manifest } of packages) {
    const { version } = JSON.parse(readFileSync(join(copy, folder, 'package.json'), 'utf8'))
    const log = join(copy, folder, 'CHANGELOG.md')
    const [entry] = existsSync(log) ? (/^## .+$/m.exec(readFileSync(log, 'utf8')) ?? []) : []
    print(
      `  ${manifest.name} ${manifest.version} -> ${version}, ${entry === `## ${version}` ? 'in its change log' : 'MISSING in its change log'}`,
    )
    if (entry !== `## ${version}`) process.exitCode = 1
  }
  pnpm(['install', '--frozen-lockfile', '--prefer-offline', '--loglevel=warn'], copy) // the lockfile contains no versions of our packages

  print('build and publish --dry-run')
  pnpm(['build'], copy)
  print(pnpm(['-r', 'publish', '--access', 'public', '--no-git-checks', '--dry-run'], copy))

  print('create, type-check and test a project of every template')
  const env = { ...process.env, INSTALL_EVERY_TEMPLATE: '1' }
  execFileSync('npx', ['vitest', 'run', '--project', 'e2e', 'e2e/create-perdure.test.ts'], {
    cwd: copy,
    env,
    stdio: 'inherit',
  })
  rmSync(copy, { recursive: true, force: true })
}

rehearse()
