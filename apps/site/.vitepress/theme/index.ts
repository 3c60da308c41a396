import type { Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import { MissingPage } from './missing-page.ts'
import { RecordedTerminal } from './recorded-terminal.ts'
import './site.css'

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': () => h(MissingPage) }),
  enhanceApp: ({ app }) => {
    app.component('RecordedTerminal', RecordedTerminal)
  },
} satisfies Theme
