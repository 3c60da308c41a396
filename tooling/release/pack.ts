import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { packPackages, root } from '../consumer/packages.ts'

// Packs every package into `dist/*.tgz`, so that another project can install them from a clone.
const to = join(root, 'dist')
mkdirSync(to, { recursive: true })
for (const name of readdirSync(to)) if (name.endsWith('.tgz')) rmSync(join(to, name))
for (const { tarball } of packPackages(to)) console.log(relative(root, tarball))
console.log(`\nTo use the packages in another project, run there: npm install ${join(to, '*.tgz')}`)
