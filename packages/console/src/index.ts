export {
  type ConsoleAsset,
  type ConsoleAssets,
  consoleAssets,
  type DocsPage,
  docsPage,
} from './console-assets.ts'
