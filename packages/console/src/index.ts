export { type ConsoleAsset, type ConsoleAssets, consoleAssets } from './console-assets.ts'
