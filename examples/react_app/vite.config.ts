import react from "@vitejs/plugin-react";
import understudy from "understudy-js/vite";
import { defineConfig } from "vite";

export default defineConfig({ plugins: [react(), understudy()] });
