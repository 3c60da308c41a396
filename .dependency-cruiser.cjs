const { globSync, readFileSync } = require('node:fs')
const { packages, coreTiers } = require('./tooling/layers.cjs')

const folderOf = (name) => (name === 'cli' ? 'apps/cli' : `packages/${name}`)
const isTest = '\\.(test|test-d|fixture)\\.ts$'

const layerRules = Object.entries(packages).map(([name, allowed]) => ({
  name: `layer-${name}`,
  severity: 'error',
  comment: `${name} may import ${allowed.join(', ') || 'no other package'} (tooling/layers.cjs)`,
  from: { path: `^${folderOf(name)}/src`, pathNot: isTest },
  to: { path: '^(packages|apps)/', pathNot: `^(${[name, ...allowed].map(folderOf).join('|')})/` },
}))

/** The modules that other packages can import: the entry points in the manifests. */
const entries = globSync('packages/*/package.json', { cwd: __dirname }).flatMap((manifest) => {
  const { exports = {} } = JSON.parse(readFileSync(`${__dirname}/${manifest}`, 'utf8'))
  const folder = manifest.replace(/package\.json$/, '')
  return Object.values(exports).flatMap(({ 'perdure-source': source }) => source?.replace('./', folder) ?? [])
})

const CORE = '^packages/core/src'
const anyOf = (folders) => `(${folders.join('|')})/`

const tierRules = coreTiers.map((tier, index) => ({
  name: `core-tier-${index + 1}`,
  severity: 'error',
  comment: `${tier.join(', ')}: may import only folders of the tiers below (tooling/layers.cjs)`,
  from: { path: `${CORE}/${anyOf(tier)}`, pathNot: isTest },
  to: { path: `${CORE}/${anyOf(coreTiers.slice(0, index + 1).flat())}`, pathNot: `${CORE}/$1/` },
}))

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...layerRules,
    ...tierRules,
    {
      name: 'core-tier-root',
      severity: 'error',
      comment: 'engine.ts and index.ts of core are above all of its folders',
      from: { path: `${CORE}/[^/]+/`, pathNot: isTest },
      to: { path: `${CORE}/[^/]+$` },
    },
    {
      name: 'no-unresolvable',
      severity: 'error',
      from: { pathNot: '^(packages|apps)/[^/]+/bin/' },
      to: { couldNotResolve: true },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'core-is-pure',
      severity: 'error',
      comment: 'protocol, ports and core import no Node built-in',
      from: { path: '^packages/(protocol|ports|core)/src', pathNot: isTest },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'core-is-pure',
      severity: 'error',
      comment: 'protocol, ports and core import no npm package but valibot and the schema types',
      from: { path: '^packages/(protocol|ports|core)/src', pathNot: isTest },
      to: { path: 'node_modules/', pathNot: 'node_modules/(valibot|@standard-schema)/' },
    },
    {
      name: 'no-deep-import',
      severity: 'error',
      from: { path: '^(packages|apps)/([^/]+)/' },
      to: {
        path: '^(packages|apps)/([^/]+)/(src|dist)/(?!index\\.)',
        pathNot: ['^$1/$2/', `^(${entries.join('|')})$`],
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(packages|apps)/[^/]+/(dist|coverage|\\.turbo|templates)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.tests.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['perdure-source', 'import', 'require', 'node', 'default', 'types'],
    },
  },
}
