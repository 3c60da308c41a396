import type { Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { RecordedTerminal } from './recorded-terminal.ts'
import './site.css'

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => {
    app.component('RecordedTerminal', RecordedTerminal)
  },
} satisfies Theme
