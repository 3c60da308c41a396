import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packages, root } from '../consumer/packages.ts'

/**
 * Applies the pending change sets, and one more, in a copy of the manifests.
 *
 * @returns the next version
 * @throws with the packages whose version or change log is not that of the release
 */
export function rehearseVersion(copy: string): string {
  const parents = ['packages', 'apps', 'examples', 'tooling', 'bench']
  const manifests = parents.flatMap((parent) =>
    [parent, ...readdirSync(join(root, parent)).map((name) => `${parent}/${name}`)].map(
      (folder) => `${folder}/package.json`,
    ),
  )
  for (const path of ['package.json', 'pnpm-workspace.yaml', '.changeset', ...manifests]) {
    if (!existsSync(join(root, path))) continue
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    cpSync(join(root, path), join(copy, path), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const changeset = "---\n'@perdure/client': minor\n---\n\nRehearses a release.\n"
  writeFileSync(join(copy, '.changeset/rehearsal.md'), changeset)
  // Not by pnpm, which would first install the copy into the linked folder.
  execFileSync(join(root, 'node_modules/.bin/changeset'), ['version'], { cwd: copy, encoding: 'utf8' })

  const read = (path: string) => (existsSync(join(copy, path)) ? readFileSync(join(copy, path), 'utf8') : '')
  const versions = packages.map(({ folder }) => JSON.parse(read(`${folder}/package.json`)).version as string)
  const [next = ''] = versions
  const wrong = packages.flatMap(({ folder, manifest: { name, version } }, index) => {
    const [entry] = /^## .+$/m.exec(read(`${folder}/CHANGELOG.md`)) ?? []
    const isRight = versions[index] === next && next !== version && entry === `## ${next}`
    return isRight ? [] : [`${name} ${version} -> ${versions[index]}, change log: ${entry ?? 'no entry'}`]
  })
  if (wrong.length > 0) throw new Error(`the release leaves packages behind:\n${wrong.join('\n')}`)
  return next
}
